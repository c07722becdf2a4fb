import { Holdfast } from 'holdfast';
import { greet } from './jobs.js';

const [name = 'world'] = process.argv.slice(2);
const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL });

const { id } = await holdfast.enqueue(greet, { name });
console.log(`Enqueued ${id}.`);
const { status, result } = await holdfast.wait(id, { timeout: '1m' });
console.log(status === 'completed' ? result : `It ended as ${status}.`);

await holdfast.close();
