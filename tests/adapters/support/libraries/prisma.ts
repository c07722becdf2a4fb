import { PrismaPg } from '@prisma/adapter-pg';
import { prismaAdapter } from 'holdfast/prisma';
import { PrismaClient } from '../../prisma/generated/client.ts';
import type { LibraryCase } from '../library.ts';

/** Prisma with its driver adapter for PostgreSQL. */
export const prismaCase: LibraryCase = {
  name: 'Prisma',
  async use(connectionString, work) {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 4 }) });
    try {
      return await work({
        adapter: prismaAdapter(prisma),
        serializable: prismaAdapter(prisma, { isolationLevel: 'serializable' }),
        transaction: (run) => prisma.$transaction(run),
        async insertInvoice(tx, { id, note }) {
          await tx.invoice.create({ data: { id, note: note ?? null } });
        },
        async execute(tx, statement) {
          await tx.$executeRawUnsafe(statement);
        },
        mistakes: { 'the root client': prisma, 'an extended client': prisma.$extends({}) },
      });
    } finally {
      await prisma.$disconnect();
    }
  },
};
