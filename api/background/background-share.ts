import { availableParallelism } from "node:os";

/** Part of the machine's processors. */
const share = 0.1;

/**
 * Part of the time that one thread which works on an added source's history may run while readers are served, so that
 * it takes a tenth of the processors: 0.2 with two, all of it from ten on.
 */
const backgroundShare = Math.min(1, share * availableParallelism());

/** How long to rest after so many milliseconds of work. */
export const restAfter = (workedMs: number): number => workedMs * (1 / backgroundShare - 1);
