import { once } from "node:events";
import { listeningUrl } from "#ops/config/config.ts";
import { launch } from "#ops/programs.ts";
import { startChild } from "./child.ts";
import { keepRunning } from "./keep-running.ts";
import { type LocalChains, parseDevnetLine, portFlags } from "./local-chains.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Runs the local chains and waits until they are ready; they keep their ports when they are restarted. */
export async function startLocalChains(context: SupervisorContext): Promise<LocalChains> {
  const { config, roles, environment, logger, orphanGuard, sink, signal, progress } = context;
  const ready = new EventTarget();
  let chains: LocalChains | undefined;
  const onLine = (line: string): boolean => {
    const message = parseDevnetLine(line);
    if (typeof message === "string") progress.show(`starting the local chains  ${message}`);
    else if (message !== undefined) {
      chains = message;
      ready.dispatchEvent(new Event("ready"));
    }
    return message !== undefined;
  };
  const start = async () =>
    startChild({
      name: "devnet",
      script: launch(
        "devnet",
        ...["--data-dir", config.dataDir],
        ...["--market", config.devnet.market ? "on" : "off"],
        ...(roles.includes("api") ? ["--api", listeningUrl(config.http)] : []),
        ...(["trace", "debug"].includes(config.log.level) ? ["--verbose"] : []),
        ...(chains === undefined ? [] : portFlags(chains)),
      ),
      environment,
      orphanGuard,
      sink,
      onLine,
    });
  logger.info("starting local chains");
  const { onConfigurationError } = context;
  const running = await keepRunning({ name: "devnet", start, logger, onConfigurationError });
  context.addStopStage().push(running);
  if (chains === undefined) await once(ready, "ready", { signal });
  if (chains === undefined) throw new Error("The local chains have no address");
  progress.clear();
  logger.info({ chainIds: Object.keys(chains.chains).map(Number) }, "local chains started");
  return chains;
}
