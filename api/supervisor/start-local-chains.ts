import { launchChild } from "./child.ts";
import { keepRunning } from "./keep-running.ts";
import { type LocalChains, localChainsDirectory, parseReadyLine } from "./local-chains.ts";
import type { Supervision } from "./supervision.ts";

/**
 * Runs the local chains as a part and waits until they can be used. Started anew they may have moved
 * to other ports: `onMove` is told, and `current` names the latest.
 */
export async function startLocalChains(
  supervision: Supervision,
  onMove: () => void,
): Promise<{ current: () => LocalChains }> {
  const { config, environment, logger, leash, sink, signal, refuse, addStage } = supervision;
  logger.info("starting the local chains");
  let current: LocalChains | undefined;
  const { promise: ready, resolve, reject } = withResolvers<LocalChains>();
  signal.addEventListener("abort", () => reject(new Error("Stopped")));

  const onLine = (line: string): boolean => {
    const chains = parseReadyLine(line);
    if (chains === undefined) return false;
    const hasMoved = current !== undefined && JSON.stringify(current) !== JSON.stringify(chains);
    current = chains;
    resolve(chains);
    if (hasMoved) onMove();
    return true;
  };
  const launch = async () =>
    launchChild({
      name: "devnet",
      script: [
        ...["devnet/main.ts", "--data-dir", localChainsDirectory(config)],
        ...["--market", config.devnet.market ? "on" : "off"],
      ],
      environment: { ...environment, LOG_FORMAT: "json" },
      leash,
      sink,
      onLine,
    });
  addStage().push(await keepRunning({ name: "devnet", launch, logger, onRefusal: refuse }));
  const first = await ready;
  return { current: () => current ?? first };
}

/** `Promise.withResolvers` of later Node versions. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
