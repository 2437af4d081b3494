import type { RoleContext, RunningRole } from "../roles/role.ts";

type RunRole = (context: RoleContext) => Promise<RunningRole>;

/** A role's module is loaded only by the process that runs it. */
const modules = {
  indexer: async () => (await import("../roles/indexer.ts")).runRole,
  projector: async () => (await import("../roles/projector.ts")).runRole,
  jobs: async () => (await import("../roles/jobs.ts")).runRole,
  api: async () => (await import("../roles/api.ts")).runRole,
  console: async () => (await import("../roles/console.ts")).runRole,
} satisfies Record<string, () => Promise<RunRole>>;

export type RoleName = keyof typeof modules;

/** In start order. */
export const roleNames = Object.keys(modules) as RoleName[];

export const loadRole = (name: RoleName): Promise<RunRole> => modules[name]();
