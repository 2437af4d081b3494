import { once } from "node:events";
import { startChild } from "./child.ts";
import { keepRunning } from "./keep-running.ts";
import { type LocalChains, parseDevnetLine, portFlags } from "./local-chains.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Runs the local chains as a part and waits until they can be used; started anew they keep their ports. */
export async function startLocalChains(supervision: SupervisorContext): Promise<LocalChains> {
  const {
    config,
    environment,
    logger,
    orphanGuard,
    sink,
    signal,
    onConfigurationError,
    addStopStage,
  } = supervision;
  logger.info("starting the local chains");
  const ready = new EventTarget();
  let chains: LocalChains | undefined;
  const onLine = (line: string): boolean => {
    const said = parseDevnetLine(line);
    if (typeof said === "string") logger.info(said);
    else if (said !== undefined) {
      chains = said;
      ready.dispatchEvent(new Event("ready"));
    }
    return said !== undefined;
  };
  const launch = async () =>
    startChild({
      name: "devnet",
      script: [
        ...["devnet/main.ts", "--data-dir", config.dataDir],
        ...["--market", config.devnet.market ? "on" : "off"],
        ...(chains === undefined ? [] : portFlags(chains)),
      ],
      environment,
      orphanGuard,
      sink,
      onLine,
    });
  addStopStage().push(
    await keepRunning({ name: "devnet", start: launch, logger, onConfigurationError }),
  );
  if (chains === undefined) await once(ready, "ready", { signal });
  if (chains === undefined) throw new Error("The local chains have no address");
  return chains;
}
