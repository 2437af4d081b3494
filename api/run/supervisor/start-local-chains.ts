import { once } from "node:events";
import { launchChild } from "./child.ts";
import { keepRunning } from "./keep-running.ts";
import { type LocalChains, parseLine, portFlags } from "./local-chains.ts";
import type { Supervision } from "./supervision.ts";

/** Runs the local chains as a part and waits until they can be used; started anew they keep their ports. */
export async function startLocalChains(supervision: Supervision): Promise<LocalChains> {
  const { config, environment, logger, leash, sink, signal, refuse, addStage } = supervision;
  logger.info("starting the local chains");
  const ready = new EventTarget();
  let chains: LocalChains | undefined;
  const onLine = (line: string): boolean => {
    const said = parseLine(line);
    if (typeof said === "string") logger.info(said);
    else if (said !== undefined) {
      chains = said;
      ready.dispatchEvent(new Event("ready"));
    }
    return said !== undefined;
  };
  const launch = async () =>
    launchChild({
      name: "devnet",
      script: [
        ...["devnet/main.ts", "--data-dir", config.dataDir],
        ...["--market", config.devnet.market ? "on" : "off"],
        ...(chains === undefined ? [] : portFlags(chains)),
      ],
      environment,
      leash,
      sink,
      onLine,
    });
  addStage().push(await keepRunning({ name: "devnet", launch, logger, onRefusal: refuse }));
  if (chains === undefined) await once(ready, "ready", { signal });
  if (chains === undefined) throw new Error("The local chains have no address");
  return chains;
}
