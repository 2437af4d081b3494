import { LRUCache } from "lru-cache";
import type { Database } from "#projections/log/database.ts";
import { snapshotFacts } from "./snapshot-facts.ts";

/** What answers have found, by the owner of snapshots, the data's version and a name. */
const found = new WeakMap<object, LRUCache<string, LRUCache<string, object>>>();
/** Replicas may be at other versions than the primary. */
const mostVersions = 4;
const most = 5_000;

/** What answers that were made from the same version of the data have found, by name. Elsewhere than in a snapshot nothing is kept. */
export type VersionCache = {
  get<Value extends object>(name: string): Value | undefined;
  set(name: string, value: object): void;
};

export function versionCache(db: Database): VersionCache {
  const facts = snapshotFacts(db);
  if (facts === undefined) return nothing;
  const { owner, version } = facts;
  const versions = found.get(owner) ?? new LRUCache({ max: mostVersions });
  found.set(owner, versions);
  const values = versions.get(version) ?? new LRUCache({ max: most });
  versions.set(version, values);
  return {
    get: <Value>(name: string) => values.get(name) as Value | undefined,
    set: (name, value) => void values.set(name, value),
  };
}

const nothing: VersionCache = { get: () => undefined, set: () => {} };
