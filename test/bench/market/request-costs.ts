import { Agent } from "node:http";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { keepRole, pipelineSettings } from "#test/support/database/pipeline.ts";
import { type Figure, medianFigure } from "../figure.ts";
import { findPostmaster, processorMs } from "../ponder/processor.ts";
import { chainId } from "./collections.ts";
import { withMarket } from "./data.ts";
import { fetchOnce } from "./http.ts";
import { addressOf, hotLists, readSample } from "./lists.ts";

const WARM_UPS = 100;
const REQUESTS = 300;
const STOP_MS = 8_000;

type Options = { scale: number; directory: string | null };

/** CPU time of the API's process and of PostgreSQL per request of each list, made and from the response cache. */
export async function run({ scale, directory }: Options): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  return await withMarket({ scale, directory }, async (db, url) => {
    const postmaster = await findPostmaster(db);
    const settings = await pipelineSettings({
      databaseUrl: url,
      chains: [{ chainId, rpcUrl: "http://127.0.0.1:9" }],
      settings: { LOG_LEVEL: "error" },
    });
    const sink = (line: string) => void process.stderr.write(`${line.trimEnd()}\n`);
    const role = await keepRole("api", { settings, orphanGuard, sink });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const request = async (path: string) => {
      const { status } = await fetchOnce(`http://127.0.0.1:${settings.PORT}${path}`, agent, {});
      if (status !== 200) throw new Error(`${path} answered ${status}`);
    };
    /** Milliseconds of CPU per request of both. */
    const measure = async (paths: readonly string[]) => {
      const [api, server] = [processorMs(role.pid()), processorMs(postmaster)];
      for (const path of paths) await request(path);
      return {
        api: (processorMs(role.pid()) - api) / paths.length,
        server: (processorMs(postmaster) - server) / paths.length,
      };
    };
    try {
      await role.ready;
      const figures: Figure[] = [];
      for (const { name, next } of hotLists(await readSample(db))) {
        const draw = (count: number) => Array.from({ length: count }, () => addressOf(next()));
        const [warmUps, paths] = [draw(WARM_UPS), draw(REQUESTS)];
        if (!paths.every((path) => path.startsWith("/v1"))) continue;
        for (const path of warmUps) await request(path);
        const size = `${scale} of 5 000 000 tokens; ${REQUESTS} requests`;
        const made = await measure(
          paths.map((path, index) => `${path}&per_page=${20 + (index % 30)}`),
        );
        const repeated = Array.from({ length: REQUESTS }, () => paths[0] ?? "");
        const cached = await measure(repeated);
        for (const [kind, spent] of Object.entries({ made, "the same one": cached })) {
          figures.push(
            medianFigure(`${name}, ${kind}: API`, [spent.api], { unit: "ms" }, size),
            medianFigure(`${name}, ${kind}: PostgreSQL`, [spent.server], { unit: "ms" }, size),
          );
        }
      }
      return figures;
    } finally {
      agent.destroy();
      await role.stop(STOP_MS);
      orphanGuard.killAll();
    }
  });
}
