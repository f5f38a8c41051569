import { setImmediate } from 'node:timers/promises';

/**
 * Counts unhandled rejections of this process while `body` runs and for two turns of the event loop after it. The runner's
 * own listeners are set aside meanwhile, so that it neither hides nor reports what is counted here.
 */
export async function unhandledRejections(body: () => unknown): Promise<number> {
  const others = process.listeners('unhandledRejection');
  let count = 0;
  const counter = () => {
    count += 1;
  };
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', counter);
  try {
    await body();
    await setImmediate();
    await setImmediate();
  } finally {
    process.removeListener('unhandledRejection', counter);
    for (const listener of others) process.on('unhandledRejection', listener);
  }
  return count;
}
