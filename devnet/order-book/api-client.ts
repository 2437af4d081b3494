import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

/** The service's public API, as a stranger's program uses it: with an instant key, at that key's rate. */
export type ApiClient = {
  /** Resolves when the service is ready, or when `signal` is aborted. */
  untilReady(signal: AbortSignal): Promise<void>;
  /** `data` of the answer; throws when it is refused. */
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
};

type ClientOptions = {
  baseUrl: string;
  /** Where the key is kept: an address gets three a day, and people want some of them. */
  keyFile: string;
};

const pollMs = 1_000;
const timeoutMs = 30_000;
/** Between two requests for a key that is refused. */
const keyRetryMs = 10 * 60_000;
/** After a refusal for the rate, without a time of the service's. */
const defaultRetrySeconds = 5;

const Key = z.object({ key: z.string() });
const Answer = z.looseObject({ data: z.unknown().optional(), code: z.string().optional() });

export function openApiClient({ baseUrl, keyFile }: ClientOptions): ApiClient {
  const keys = openKey(baseUrl, keyFile);

  async function request(path: string, init: RequestInit, triesLeft = 2): Promise<unknown> {
    const key = await keys.read();
    const response = await fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { "content-type": "application/json", "x-api-key": key },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data, code } = Answer.parse(await response.json());
    if (response.ok) return data;
    if (triesLeft > 0 && response.status === 429) {
      await delay(Number(response.headers.get("retry-after") ?? defaultRetrySeconds) * 1_000);
      return request(path, init, triesLeft - 1);
    }
    if (triesLeft > 0 && response.status === 401) {
      keys.drop(key);
      return request(path, init, triesLeft - 1);
    }
    throw new Error(`${init.method} ${path}: ${response.status} ${code ?? ""}`);
  }

  return {
    async untilReady(signal) {
      while (!signal.aborted && !(await isReady(baseUrl)))
        await delay(pollMs, undefined, { signal }).catch(() => {});
    },
    get: (path) => request(path, { method: "GET" }),
    post: (path, body) => request(path, { method: "POST", body: JSON.stringify(body) }),
  };
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(timeoutMs) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** The key of the file, or a new one. Concurrent readers share one request. */
function openKey(baseUrl: string, keyFile: string) {
  let reading: Promise<string> | undefined;
  let dropped: string | undefined;
  let refusedUntil = 0;

  const createKey = async (): Promise<string> => {
    if (Date.now() < refusedUntil) throw new Error("the service gave no API key");
    const response = await fetch(`${baseUrl}/v1/auth/keys`, {
      method: "POST",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data } = Answer.parse(await response.json());
    if (!response.ok) {
      refusedUntil = Date.now() + keyRetryMs;
      throw new Error(`the service gave no API key: ${response.status}`);
    }
    const { key } = Key.parse(data);
    await writeFile(keyFile, key, { mode: 0o600 });
    return key;
  };
  const readOrCreate = async (): Promise<string> => {
    const stored = await readFile(keyFile, "utf8").catch(() => undefined);
    return stored === undefined || stored === dropped ? createKey() : stored;
  };

  return {
    read(): Promise<string> {
      reading ??= readOrCreate().catch((error) => {
        reading = undefined;
        throw error;
      });
      return reading;
    },
    /** Expired, or of a database that was deleted. */
    drop(key: string): void {
      if (key === dropped) return;
      dropped = key;
      reading = undefined;
    },
  };
}
