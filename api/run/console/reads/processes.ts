import { randomUUID } from "node:crypto";
import process from "node:process";
import { z } from "zod";

/** Milliseconds for the supervisor to answer. */
const timeoutMs = 2_000;

/** A process that the supervisor runs. `bytes`: of it and all that it started; null: not known. */
const RunningProcess = z.object({
  name: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  /** How often it was started, its restarts included. */
  starts: z.number(),
  bytes: z.number().nullable(),
});
export type RunningProcess = z.output<typeof RunningProcess>;

/** From the console's process to the supervisor, and its answer. */
export const ProcessRequest = z.object({ processesFor: z.string() });
const ProcessAnswer = z.object({
  processList: z.object({ id: z.string(), processes: z.array(RunningProcess) }),
});

export type ReadProcesses = () => Promise<RunningProcess[]>;

/** Null where no supervisor started this process. */
export function openProcessReader(): ReadProcesses | null {
  const send = process.send?.bind(process);
  if (send === undefined) return null;
  const waiting = new Map<string, (processes: RunningProcess[]) => void>();
  process.on("message", (message) => {
    const answer = ProcessAnswer.safeParse(message);
    if (answer.success)
      waiting.get(answer.data.processList.id)?.(answer.data.processList.processes);
  });
  return () =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error("the supervisor does not answer"));
      }, timeoutMs);
      waiting.set(id, (processes) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(processes);
      });
      send({ processesFor: id });
    });
}
