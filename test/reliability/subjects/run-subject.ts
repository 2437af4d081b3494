import { kill, start } from "#test/soak/processes.ts";
import { descendantsOf } from "#test/support/database/processes.ts";
import type { RunningSubject, SubjectSettings } from "./subject.ts";

type SubjectProgram = Pick<SubjectSettings, "directory" | "orphanGuard"> & {
  /** Of Node. */
  readonly args: readonly string[];
  readonly environment: Record<string, string>;
  readonly baseUrl: string;
  /** Whether it is stopped as by a terminal, SIGINT to each of its processes: SIGTERM ends a part of them alone. */
  readonly stopsByTerminal?: boolean;
};

/** Starts the program of a subject; what it prints is in `subject.log`. */
export function runSubject(program: SubjectProgram): RunningSubject {
  const { directory, orphanGuard, args, environment, baseUrl } = program;
  const running = start({ name: "subject", args, environment, directory, orphanGuard });
  let isOver = false;
  const exited = running.exited.then(() => {
    isOver = true;
  });
  const end = async (signal: NodeJS.Signals) => {
    const startedAt = Date.now();
    for (const one of program.stopsByTerminal === true ? descendantsOf(running.pid) : [])
      kill(one.pid, signal);
    running.child.kill(signal);
    await exited;
    return (Date.now() - startedAt) / 1_000;
  };
  return {
    ...{ pid: running.pid, baseUrl, hasExited: () => isOver },
    stop: () => end(program.stopsByTerminal === true ? "SIGINT" : "SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    async readiness() {
      const request = fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
      const answer = await request.catch(() => null);
      return answer && { status: answer.status, text: await answer.text().catch(() => "") };
    },
  };
}
