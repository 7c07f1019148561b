declare module '*?worker&url' {
  const url: string
  // biome-ignore lint/style/noDefaultExport: the bundler gives the address as the default export
  export default url
}
declare module '*.css'
declare module '*.svg' {
  const url: string
  // biome-ignore lint/style/noDefaultExport: the bundler gives the address as the default export
  export default url
}
