import { defineConfig } from 'vitest/config'

// Test processes inherit it: a busy engine connection occupies a thread, and killing its query needs another one.
process.env.UV_THREADPOOL_SIZE ??= '24'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/fixtures/kafka-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
})
