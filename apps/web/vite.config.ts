import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev` sends API calls: a locally started API on its default port. */
const apiOrigin = 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['@holdfast/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2022',
    // The content security policy allows no data: fonts or scripts, so that nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { '/api': { target: apiOrigin } },
  },
  preview: {
    proxy: { '/api': { target: apiOrigin } },
  },
});
