// Bundles the page: assets relative to the shell's base, JSX without a plugin, one worker.
import { defineConfig } from 'vite'

// biome-ignore lint/style/noDefaultExport: vite reads its configuration from the default export
export default defineConfig({
  base: './',
  publicDir: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    assetsInlineLimit: (file) => file.endsWith('.svg'),
    modulePreload: { polyfill: false },
    // One stylesheet, in one order: pages use each other's classes, whichever of them was opened first.
    cssCodeSplit: false,
    manifest: true,
    license: { fileName: 'licenses.md' },
  },
})
