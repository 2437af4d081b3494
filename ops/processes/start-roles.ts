import { readdirSync, readFileSync } from "node:fs";
import { ProcessRequest, type RunningProcess } from "../console/figures.ts";
import {
  OperationRequest,
  OperationTasks,
  operationArguments,
  type ShownTask,
} from "../console/operations.ts";
import { launch, roleFlags } from "../programs.ts";
import {
  keepRunning,
  lowerPriority,
  type RestartedProcess,
  type StartedChild,
  startChild,
} from "./child.ts";
import { withOneChain } from "./local-chains.ts";
import { settingsOf } from "./process-settings.ts";
import type { RoleName } from "./run-role.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

type Variables = Record<string, string | undefined>;

/** One process. The indexer runs once per chain, so that a failure of one chain does not affect another. */
type RoleProcess = { name: string; role: RoleName; environment: Variables };

/**
 * Starts the processes of every role. Returns a check whether all of them have reported that they are ready, but for the
 * console: the service does not wait for a tool of its operator, whose port another program may hold.
 */
export async function startRoles(
  context: SupervisorContext,
  environment: Variables,
): Promise<() => boolean> {
  const processes = context.roles.flatMap((role) => processesOf(role, context, environment));
  const ready = new Set<string>();
  const backgroundStage = context.addStopStage();
  const apiStage = context.addStopStage();
  context.logger.info({ processes: processes.map(({ name }) => name) }, "starting processes");
  const operations = openOperations(context, environment);
  backgroundStage.push(operations);
  const list = openProcessList();
  for (const each of processes) {
    if (context.signal.aborted) break;
    const stage = each.role === "api" ? apiStage : backgroundStage;
    const onMessage = (message: unknown, child: StartedChild) => {
      if (isReadyMessage(message)) ready.add(each.name);
      else if (each.role === "console") {
        operations.onMessage(message, child.send);
        list.onMessage(message, child.send);
      }
    };
    const onStart = (pid: number | undefined) => list.onStart(each.name, pid);
    stage.push(await startRole(each, context, { onMessage, onStart }));
  }
  return () => processes.every(({ name, role }) => role === "console" || ready.has(name));
}

function processesOf(
  role: RoleName,
  { config }: SupervisorContext,
  given: Variables,
): RoleProcess[] {
  const environment = settingsOf(role, given);
  if (role !== "indexer") return [{ name: role, role, environment }];
  return config.chains.map(({ chainId }) => ({
    name: `indexer-${chainId}`,
    role,
    environment: withOneChain(environment, chainId),
  }));
}

type RoleEvents = {
  onMessage: (message: unknown, child: StartedChild) => void;
  onStart: (pid: number | undefined) => void;
};

function startRole(
  { name, role, environment }: RoleProcess,
  { logger, orphanGuard, sink, onConfigurationError }: SupervisorContext,
  { onMessage, onStart }: RoleEvents,
): Promise<RestartedProcess> {
  const start = async () => {
    const child = startChild({
      name,
      script: [...(roleFlags[role] ?? []), ...launch("service", "--only", role, "--name", name)],
      environment,
      orphanGuard,
      sink,
      onMessage: (message) => onMessage(message, child),
    });
    onStart(child.pid);
    // Nobody waits for them: a start is the others'.
    if ((role === "jobs" || role === "console") && child.pid !== undefined)
      lowerPriority(child.pid);
    return child;
  };
  return keepRunning({ name, start, logger, onConfigurationError });
}

const isReadyMessage = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "ready" in message && message.ready === true;

type Started = { pid: number; startedAt: Date; starts: number };

type ProcessList = {
  onStart: (name: string, pid: number | undefined) => void;
  /** Answers a request of the console's process. Other messages are ignored. */
  onMessage: (message: unknown, reply: (message: object) => void) => void;
};

/** The processes of the roles, and what the console shows of them. */
function openProcessList(): ProcessList {
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

type ProcessMemory = { pid: number; parent: number; bytes: number };

/** Bytes of memory of a process and all that it started; null where the system has no /proc. */
export function readMemory(pids: readonly number[]): Map<number, number | null> {
  if (process.platform !== "linux") return new Map(pids.map((pid) => [pid, null]));
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const bytesOf = (pid: number): number =>
    all.reduce(
      (sum, one) =>
        sum + (one.pid === pid ? one.bytes : 0) + (one.parent === pid ? bytesOf(one.pid) : 0),
      0,
    );
  return new Map(pids.map((pid) => [pid, bytesOf(pid)]));
}

function readProcess(pid: number): ProcessMemory[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return [{ pid, parent: field("PPid"), bytes: field("VmRSS") * 1_024 }];
  } catch {
    // It has exited.
    return [];
  }
}

/** Characters of a command's output that are kept, its last ones. */
const mostOutput = 8_000;

type TaskReport = { readonly tasks: readonly ShownTask[]; readonly output: string };

type Operations = RestartedProcess & {
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
  const run = async (args: readonly string[], tell: (progress: TaskReport) => void) => {
    let output = "";
    let tasks: readonly ShownTask[] = [];
    running = startChild({
      name: "op",
      script: launch("op", ...args),
      environment,
      orphanGuard,
      sink,
      onLine: (line) => {
        output = `${output}${line}\n`.slice(-mostOutput);
        tell({ tasks, output });
        return true;
      },
      onMessage(message) {
        tasks = OperationTasks.safeParse(message).data?.tasks ?? tasks;
        tell({ tasks, output });
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
      const tell = (progress: TaskReport) => reply({ progress: { id, ...progress } });
      void run(args, tell).then(({ code, output }) => {
        logger.info({ operation: args.join(" "), exitCode: code }, "operation ended");
        reply({ ended: { id, code, output } });
      });
    },
    stop: async (timeoutMs) => running?.stop(timeoutMs),
  };
}
