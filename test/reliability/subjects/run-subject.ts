import { start } from "#test/soak/processes.ts";
import type { RunningSubject, SubjectSettings } from "./subject.ts";

type SubjectProgram = Pick<SubjectSettings, "directory" | "orphanGuard"> & {
  /** Of Node. */
  readonly args: readonly string[];
  readonly environment: Record<string, string>;
  readonly baseUrl: string;
};

/** Starts the program of a subject; what it prints is in `subject.log`. */
export function runSubject(program: SubjectProgram): RunningSubject {
  const { directory, orphanGuard, args, environment, baseUrl } = program;
  const running = start({ name: "subject", args, environment, directory, orphanGuard });
  let isOver = false;
  const exited = running.exited.then(() => {
    isOver = true;
  });
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const startedAt = Date.now();
    running.child.kill(signal);
    await exited;
    return (Date.now() - startedAt) / 1_000;
  };
  return {
    ...{ pid: running.pid, baseUrl, hasExited: () => isOver },
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    async readiness() {
      const request = fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
      const answer = await request.catch(() => null);
      return answer && { status: answer.status, text: await answer.text().catch(() => "") };
    },
  };
}
