export * from './dispatch-page.ts';
export * from './fire-schedules.ts';
export * from './scheduler.ts';
