import { ProcessRequest, type RunningProcess } from "#ops/console/figures.ts";
import { readMemory } from "./read-memory.ts";

type Started = { pid: number; startedAt: Date; starts: number };

export type ProcessList = {
  onStart: (name: string, pid: number | undefined) => void;
  /** Answers a request of the console's process. Other messages are ignored. */
  onMessage: (message: unknown, reply: (message: object) => void) => void;
};

/** The processes of the roles, and what the console shows of them. */
export function openProcessList(): ProcessList {
  const started = new Map<string, Started>();
  return {
    onStart(name, pid) {
      if (pid === undefined) return;
      const starts = (started.get(name)?.starts ?? 0) + 1;
      started.set(name, { pid, startedAt: new Date(), starts });
    },
    onMessage(message, reply) {
      const request = ProcessRequest.safeParse(message);
      if (!request.success) return;
      const memory = readMemory([...started.values()].map(({ pid }) => pid));
      const processes = [...started].map(
        ([name, { pid, startedAt, starts }]): RunningProcess => ({
          name,
          pid,
          starts,
          startedAt: startedAt.toISOString(),
          bytes: memory.get(pid) ?? null,
        }),
      );
      reply({ processList: { id: request.data.processesFor, processes } });
    },
  };
}
