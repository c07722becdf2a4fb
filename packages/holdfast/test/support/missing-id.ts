/** The id of no job and no batch. */
export const missingId = '019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90';
