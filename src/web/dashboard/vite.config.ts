import { defineConfig } from 'vite';

/** Browsers of the last two and a half years. */
const TARGET = ['chrome111', 'edge111', 'firefox114', 'safari16.4'];

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the service puts the path of PUBLIC_URL in front.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: TARGET,
    assetsDir: 'assets',
    // Inlined files would be data: URLs, which the content security policy allows for images only.
    assetsInlineLimit: 0,
    // The preloads need no polyfill in these browsers, and it would be one more script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The licences of the bundled packages, whose comments are removed: docker/third-party.mjs publishes them.
    license: { fileName: 'licenses.json' },
  },
});
