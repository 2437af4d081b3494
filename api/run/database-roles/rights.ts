import { withoutShadow } from "../../../projections/engine/shadow-schema.ts";
import { type FactKind, factKind } from "../../../projections/log/fact-kind.ts";
import { isVersionOf } from "../../../projections/versions.ts";
import type { ProcessName } from "./database-roles.ts";

/** Who owns the schemas of a class: the owner, the indexer (Ponder's) or the projector (derived tables, views). */
export type SchemaClass = { owner: "owner" | "indexer" | "projector"; rights: string };

const ownSchemas = ["log", "ops", "engine", "rarity", "access", "locks"];

/** The class of a schema; undefined for one that is not the service's. */
export function classOf(schema: string, projections: readonly string[]): SchemaClass | undefined {
  if (ownSchemas.includes(schema)) return { owner: "owner", rights: schema };
  if (/^ponder_(sync$|\d+_)/.test(schema)) return { owner: "indexer", rights: "ponder" };
  const isDerived =
    projections.some((name) => isVersionOf(withoutShadow(schema), name)) ||
    /^analytics(_next|_replaced_\d+)?$/.test(schema);
  return isDerived ? { owner: "projector", rights: "derived" } : undefined;
}

export type Privilege = "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "TRUNCATE";
/** Given to a role without being wanted, these are taken away; so is reading `access`, which holds people's data. */
export const changing: Privilege[] = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"];

const read: Privilege[] = ["SELECT"];
const put: Privilege[] = ["SELECT", "INSERT", "UPDATE"];
const edit: Privilege[] = ["SELECT", "INSERT", "UPDATE", "DELETE"];
/** A lock is a view whose table lock is taken. */
const lock: Privilege[] = ["UPDATE"];
/** What each process counts of its calls to nodes and partners. */
const outgoing = { "ops.outgoing_call": put, "ops.partner_budget": put };

type Rights = {
  /** By schema or class of schemas, and by table where a table's differ. */
  tables: Record<string, Privilege[]>;
  /** Functions of the log that write it. */
  functions: string[];
  /** Functions of PostgreSQL that may be taken from the public for the analysts' sake. */
  systemFunctions: string[];
  /** On the database. */
  database: ("CREATE" | "TEMPORARY")[];
  /** Schemas in which it creates, besides its own. */
  creates: string[];
};

/** The least with which each process does its work. */
export const rightsOf: Record<ProcessName, Rights> = {
  indexer: {
    tables: {
      log: read,
      ops: read,
      locks: lock,
      ...outgoing,
      "ops.indexer": put,
      "ops.source": edit,
      "ops.chain_finality": put,
      "ops.history_proof": put,
      "ops.node_fault": edit,
    },
    // What its proof of history finds missing.
    functions: ["open_stage", "append_stage", "append_observations", "append_block_states"],
    systemFunctions: ["pg_notify(text,text)"],
    database: ["CREATE", "TEMPORARY"],
    creates: ["locks"],
  },
  projector: {
    tables: {
      log: read,
      ops: read,
      ponder: read,
      derived: read,
      engine: read,
      locks: lock,
      ...outgoing,
      "engine.checkpoint": edit,
      "ops.lease": put,
      "ops.projecting_lease": put,
      "ops.recorder": put,
      "ops.recorded_block": edit,
      "ops.observation_check": put,
      // Views for analysts are made again under its lock.
      "ops.analyst": ["SELECT", "UPDATE"],
    },
    functions: [
      "open_stage",
      "append_stage",
      "append_observations",
      "append_block_states",
      "register_contracts",
      "analyze_facts",
    ],
    systemFunctions: ["pg_notify(text,text)", "txid_current()"],
    database: ["CREATE", "TEMPORARY"],
    creates: ["locks"],
  },
  jobs: {
    tables: {
      log: read,
      ops: read,
      ponder: read,
      derived: read,
      engine: read,
      rarity: edit,
      locks: lock,
      ...outgoing,
      "ops.lease": put,
      "ops.partner_collection": put,
      "ops.partner_listing": edit,
      "ops.partner_skip": put,
      "ops.royalty_scan": put,
      "ops.royalty_reread": put,
      "ops.analytics_engine": put,
      "ops.order_recheck": put,
      "ops.metadata_request": edit,
    },
    functions: ["append_observations"],
    systemFunctions: ["pg_notify(text,text)"],
    database: ["TEMPORARY"],
    creates: ["locks"],
  },
  api: {
    tables: {
      log: read,
      ops: read,
      ponder: read,
      derived: read,
      engine: read,
      rarity: read,
      ...outgoing,
      access: edit,
      "ops.order_budget": edit,
      "ops.royalty_reread": put,
      "ops.metadata_request": put,
    },
    functions: ["append_observations"],
    systemFunctions: [],
    database: [],
    creates: [],
  },
  // Reads, the switches of `op pause`, and what operators did. All else that it starts is run by the supervisor.
  console: {
    tables: {
      log: read,
      ops: read,
      ponder: read,
      derived: read,
      engine: read,
      ...outgoing,
      "access.minute": read,
      "access.usage": read,
      "ops.sample": edit,
      "ops.switch": put,
    },
    functions: ["append_observations"],
    systemFunctions: [],
    database: [],
    creates: [],
  },
};

/** The owner's functions call these. */
export const ownerFunctions = ["pg_notify(text,text)"];

/** Facts that a process observes or decides, as kinds that its role may append. */
const submitted: FactKind[] = [
  ...(["order_submitted", "cross_listing_submitted", "order_status_read", "counter_read"] as const),
  ...(["approval_read", "owner_read", "units_read", "balance_read", "allowance_read"] as const),
  ...(["transfer_read", "signature_read", "recipients_read", "channel_read"] as const),
  "token_approval_read",
];
const quarantined: FactKind[] = ["fact_quarantined", "fact_released"];
const operated: FactKind[] = ["operator_action_started", "operator_action_ended"];
const proved: FactKind[] = ["history_repaired"];
const firstObserved = factKind.collection_registered;
const isObserved = (kind: FactKind) =>
  factKind[kind] >= firstObserved &&
  ![...quarantined, ...operated, ...proved, "order_submitted"].includes(kind);

export const appendableKinds: Record<ProcessName, number[]> = {
  indexer: proved.map((kind) => factKind[kind]),
  projector: quarantined.map((kind) => factKind[kind]),
  jobs: (Object.keys(factKind) as FactKind[]).filter(isObserved).map((kind) => factKind[kind]),
  api: submitted.map((kind) => factKind[kind]),
  console: operated.map((kind) => factKind[kind]),
};
