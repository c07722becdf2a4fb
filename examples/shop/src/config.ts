const { DATABASE_URL = 'postgres://localhost/shop', PORT = '4000' } = process.env;

/** What differs from machine to machine. */
export const config = { databaseUrl: DATABASE_URL, port: Number(PORT) };
