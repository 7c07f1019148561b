// How the page is bundled: assets relative to the shell's base, JSX without a plugin, one worker.
import { defineConfig, type Plugin } from 'vite'

/** What the entry imports at once, so that it is not asked for only when the entry has been read. */
const preloaded = (module: string): Plugin => ({
  name: 'preloaded',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.values(bundle).flatMap((chunk) =>
        chunk.type === 'chunk' && chunk.isDynamicEntry && chunk.facadeModuleId?.includes(module)
          ? [
              {
                tag: 'link',
                attrs: { rel: 'modulepreload', crossorigin: true, href: `./${chunk.fileName}` },
                injectTo: 'head',
              },
            ]
          : [],
      ),
  },
})

// biome-ignore lint/style/noDefaultExport: vite reads its configuration from the default export
export default defineConfig({
  base: './',
  publicDir: false,
  plugins: [preloaded('/react-dom/client')],
  define: { 'process.env.NODE_ENV': '"production"' },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    assetsInlineLimit: (file) => file.endsWith('.svg'),
    modulePreload: { polyfill: false },
    manifest: true,
    license: { fileName: 'licenses.md' },
  },
})
