import { once } from "node:events";
import { Agent, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { sql } from "kysely";
import type { Hex } from "viem";
import { createWebhook } from "#api/webhooks/stored-webhooks.ts";
import { idAfterPosition } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { openDatabase } from "#projections/log/database.ts";
import { type Figure, medianFigure, percentileFigures } from "../figure.ts";
import { withInstallation } from "../installation.ts";
import { nowMs, soldAt, timeSales } from "../latency.ts";

const beyondHttpMs = 100;

/** Sales of chain 1 from just before their block until they are delivered, and until `GET /v1/sales` has them. */
export function timeDeliveries(): Promise<Figure[]> {
  return withInstallation(async ({ ethereum, whileServing }) => {
    const { chainId, rpcUrl, wsUrl } = ethereum.anvil;
    const receiver = await openSaleReceiver();
    await ethereum.client.setIntervalMining({ interval: 1 });
    const serve = async (baseUrl: string, databaseUrl: string) => {
      await makeSaleWebhook(databaseUrl, receiver.origin);
      const agent = new Agent({ keepAlive: true });
      const served: number[] = [];
      const deliveredMs = await timeSales(ethereum, async (hash, minedAt) => {
        const [at, servedAt] = await Promise.all([
          receiver.receivedAt(hash),
          soldAt(baseUrl, agent, hash),
        ]);
        served.push(servedAt - minedAt);
        return at;
      });
      agent.destroy();
      return figuresOf(deliveredMs, served.slice(-deliveredMs.length));
    };
    try {
      const settings = { WEBHOOK_ALLOWED_ORIGINS: receiver.origin };
      return await whileServing([{ chainId, rpcUrl, wsUrl }], serve, settings);
    } finally {
      receiver.close();
    }
  });
}

function figuresOf(deliveredMs: readonly number[], servedMs: readonly number[]): Figure[] {
  const size = "sales of chain 1, the websocket announcing blocks";
  const percentiles = [50, 99].map((percent) => ({ percent, goalMs: null }));
  const delivered = percentileFigures("webhooks, block → delivery", deliveredMs, percentiles, size);
  const served = percentileFigures("webhooks, block → HTTP", servedMs, percentiles, size);
  const beyond = (delivered[0]?.value ?? Number.NaN) - (served[0]?.value ?? Number.NaN);
  const goal = { unit: "ms", atMost: beyondHttpMs } as const;
  const name = "webhooks, delivery beyond HTTP, difference of p50";
  return [...delivered, ...served, medianFigure(name, [beyond], goal, size)];
}

/** Notes when the sale of a transaction arrives. */
async function openSaleReceiver() {
  const arrived = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const server = createServer(async (request, response) => {
    const at = nowMs();
    const { data } = (await json(request)) as { data: { txHash: string } };
    response.writeHead(204).end();
    arrived.set(data.txHash, at);
    waiting.get(data.txHash)?.(at);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receivedAt: (hash: Hex) =>
      new Promise<number>((resolve) => {
        const at = arrived.get(hash);
        if (at === undefined) waiting.set(hash, resolve);
        else resolve(at);
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function makeSaleWebhook(databaseUrl: string, url: string): Promise<void> {
  const db = openDatabase({ url: databaseUrl, applicationName: "bench", onIdleError: () => {} });
  try {
    const { rows } = await sql<{ id: number }>`
      insert into access.account (email, password, created_at)
      values ('sales@example.test', '', now()) returning id`.execute(db);
    const of = { chainId: 1, delivery: "latest", filter: { type: ["sale"] } } as const;
    const accountId = rows[0]?.id ?? 0;
    const place = idAfterPosition(0n);
    const made = await createWebhook({ db, clock: () => null }, { ...of, accountId, url, place });
    if (isRejection(made)) throw new Error(made.message);
  } finally {
    await db.destroy();
  }
}
