import { answeringFlags, launch } from "#ops/programs.ts";
import { type StartedChild, startChild } from "./child.ts";
import { keepRunning, type RestartedProcess } from "./keep-running.ts";
import { withOneChain } from "./local-chains.ts";
import { openProcessList } from "./process-list.ts";
import { lowerPriority } from "./process-priority.ts";
import { settingsOf } from "./process-settings.ts";
import type { RoleName } from "./role-modules.ts";
import { openOperations } from "./run-operations.ts";
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
      script: [
        ...(role === "api" ? answeringFlags : []),
        ...launch("service", "--only", role, "--name", name),
      ],
      environment,
      orphanGuard,
      sink,
      onMessage: (message) => onMessage(message, child),
    });
    onStart(child.pid);
    if (role === "jobs" && child.pid !== undefined) lowerPriority(child.pid);
    return child;
  };
  return keepRunning({ name, start, logger, onConfigurationError });
}

const isReadyMessage = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "ready" in message && message.ready === true;
