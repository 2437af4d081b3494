import { operationArguments, OperationRequest } from "#ops/console/operations.ts";
import { launch } from "#ops/programs.ts";
import { type StartedChild, startChild } from "./child.ts";
import type { RestartedProcess } from "./keep-running.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Characters of a command's output that are kept, its last ones. */
const mostOutput = 8_000;

export type Operations = RestartedProcess & {
  /** A message of the console's process. Others than requests of an operation are ignored. */
  onMessage: (message: unknown, reply: (message: object) => void) => void;
};

/**
 * Runs the operator commands that the console asks for, one at a time and with the owner's rights, which the console's
 * process does not have.
 */
export function openOperations(
  { orphanGuard, sink, logger }: Pick<SupervisorContext, "orphanGuard" | "sink" | "logger">,
  environment: Record<string, string | undefined>,
): Operations {
  let running: StartedChild | undefined;
  const run = async (args: readonly string[]) => {
    let output = "";
    running = startChild({
      name: "op",
      script: launch("op", ...args),
      environment,
      orphanGuard,
      sink,
      onLine: (line) => {
        output = `${output}${line}\n`.slice(-mostOutput);
        return true;
      },
    });
    const { code } = await running.exited;
    running = undefined;
    return { code, output };
  };
  return {
    onMessage(message, reply) {
      const request = OperationRequest.safeParse(message);
      if (!request.success) return;
      const { id, run: operation } = request.data.operation;
      if (running !== undefined) {
        reply({ ended: { id, code: null, output: "another operation is running" } });
        return;
      }
      const args = operationArguments(operation);
      logger.info({ operation: args.join(" ") }, "operation started");
      void run(args).then(({ code, output }) => {
        logger.info({ operation: args.join(" "), exitCode: code }, "operation ended");
        reply({ ended: { id, code, output } });
      });
    },
    stop: async (timeoutMs) => running?.stop(timeoutMs),
  };
}
