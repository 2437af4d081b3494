import { writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const niceness = 5;

/**
 * A process that yields the processors to the others: at niceness 5 it gets a third of what one of them gets, when all
 * want more than there is. Linux may schedule sessions as groups ("autogroup", sched(7)): then only the group's own
 * niceness counts.
 */
export function lowerPriority(pid: number): void {
  for (const lower of [
    () => setPriority(pid, Math.max(getPriority(pid), niceness)),
    () => writeFileSync(`/proc/${pid}/autogroup`, `${niceness}`),
  ]) {
    try {
      lower();
    } catch {
      // It may have ended, or the system knows no such groups: then it works like the others.
    }
  }
}
