export { freePort } from '@holdfast/embedded-postgres';
export { hasBrowser, launchBrowser } from './launch-browser.ts';
export { spawnProcess } from './spawn-process.ts';
export { createTestDatabase } from './test-database.ts';
export { waitFor } from './wait-for.ts';
export type { ProcessExit, SpawnedProcess, SpawnProcessOptions } from './spawn-process.ts';
export type { TestDatabase } from './test-database.ts';
export type { NotYet, WaitForOptions } from './wait-for.ts';
