import { startChild } from "./child.ts";
import { keepRunning, type RestartedProcess } from "./keep-running.ts";
import { withOneChain } from "./local-chains.ts";
import type { RoleName } from "./role-modules.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

type Variables = Record<string, string | undefined>;

/** One process: the indexer runs once per chain, so that no chain's trouble is another's. */
type RoleProcess = { name: string; role: RoleName; environment: Variables };

/** Starts every role's processes, without waiting for one another. Returns how to ask whether all have said that they work. */
export async function startRoles(
  supervision: SupervisorContext,
  environment: Variables,
): Promise<() => boolean> {
  const processes = supervision.roles.flatMap((role) =>
    processesOf(role, supervision, environment),
  );
  const ready = new Set<string>();
  const workers = supervision.addStopStage();
  const front = supervision.addStopStage();
  for (const each of processes) {
    if (supervision.signal.aborted) break;
    const stage = each.role === "api" ? front : workers;
    stage.push(await startRole(each, supervision, () => ready.add(each.name)));
  }
  return () => processes.every(({ name }) => ready.has(name));
}

function processesOf(
  role: RoleName,
  { config }: SupervisorContext,
  environment: Variables,
): RoleProcess[] {
  if (role !== "indexer") return [{ name: role, role, environment }];
  return config.chains.map(({ chainId }) => ({
    name: `indexer-${chainId}`,
    role,
    environment: withOneChain(environment, chainId),
  }));
}

function startRole(
  { name, role, environment }: RoleProcess,
  { logger, orphanGuard, sink, onConfigurationError }: SupervisorContext,
  onReady: () => void,
): Promise<RestartedProcess> {
  logger.info(`starting ${name}`);
  const launch = async () =>
    startChild({
      name,
      script: ["api/main.ts", "--only", role, "--name", name],
      environment,
      orphanGuard,
      sink,
      onMessage: (message) => {
        if (isReadyMessage(message)) onReady();
      },
    });
  return keepRunning({ name, start: launch, logger, onConfigurationError });
}

const isReadyMessage = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "ready" in message && message.ready === true;
