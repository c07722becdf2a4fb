/** JavaScript that needs TypeScript. */
export { handlers } from './typed-handlers.ts';
