/**
 * The handlers of the worker that is measured. They do nothing, and tell the benchmark when the jobs that warm the
 * process up are over, when the first and the last job after them began, or how long a job was under way.
 */
const warmUpCount = Number(process.env.BENCH_WARM_UP_JOBS);
const lastCount = warmUpCount + Number(process.env.BENCH_JOBS);
let count = 0;
let cpuAtFirst;

export const handlers = {
  async noop() {
    count += 1;
    if (count === warmUpCount) process.send({ kind: 'warm' });
    if (count === warmUpCount + 1) {
      cpuAtFirst = process.cpuUsage();
      process.send({ kind: 'first' });
    }
    if (count === lastCount) {
      const { user, system } = process.cpuUsage(cpuAtFirst);
      process.send({ kind: 'last', cpuSeconds: (user + system) / 1e6 });
    }
  },

  async 'pick-up'(payload) {
    // One clock for all processes of a machine.
    const nowNs = process.hrtime.bigint();
    process.send({ kind: 'picked_up', tookMs: Number(nowNs - BigInt(payload.sentAtNs)) / 1e6 });
  },
};
