// The part of the binding that is used here; the package brings no types.
declare module 'fs-native-extensions' {
  /** False when another open file description holds the lock; throws where the file system has none. */
  export function tryLock(fd: number): boolean
}
