/** Exits 0 when the browser tests have a browser, 1 when they have none. Needs a built checkout. */
import { findBrowser } from '../packages/testing/dist/find-browser.js';

const browser = findBrowser();
if (browser !== undefined) console.log(`browser: ${browser.path}`);
process.exitCode = browser === undefined ? 1 : 0;
