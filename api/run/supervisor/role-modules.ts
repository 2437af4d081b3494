import type { RoleContext, Running } from "../roles/role.ts";

type RunRole = (context: RoleContext) => Promise<Running>;

/** Each role's module is loaded by the process that runs it, and by no other. */
const modules = {
  indexer: async () => (await import("../roles/indexer.ts")).runRole,
  projector: async () => (await import("../roles/projector.ts")).runRole,
  jobs: async () => (await import("../roles/jobs.ts")).runRole,
  api: async () => (await import("../roles/api.ts")).runRole,
} satisfies Record<string, () => Promise<RunRole>>;

export type RoleName = keyof typeof modules;

/** In the order they are started. */
export const roleNames = Object.keys(modules) as RoleName[];

export const loadRole = (name: RoleName): Promise<RunRole> => modules[name]();
