export * from './transaction-adapter.ts';
