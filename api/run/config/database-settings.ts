import { setting, urlOf } from "./setting.ts";

/** A schema for each setting: it carries the setting's description. */
const postgresUrl = () => urlOf("postgres:", "postgresql:").optional();

const userOf = (process: string) =>
  setting(postgresUrl(), {
    meaning: `the same database as a user of the ${process}'s own, with the rights that \`op roles grant\` gives it`,
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: `postgres://${process}:password@localhost:5432/orders`,
    fallback: "DATABASE_URL; embedded: a user of its own",
    secret: true,
  });

/** The database, and as which users the processes use it. */
export const databaseSettings = {
  DATABASE_URL: setting(postgresUrl(), {
    meaning: "PostgreSQL server, version 15 to 18; its user owns the tables and migrates them",
    expectation: "a postgres:// URL",
    example: "postgres://user:password@localhost:5432/orders",
    fallback: "absent: embedded PostgreSQL in DATA_DIR",
    secret: true,
  }),
  DATABASE_URL_INDEXER: userOf("indexer"),
  DATABASE_URL_PROJECTOR: userOf("projector"),
  DATABASE_URL_JOBS: userOf("jobs"),
  DATABASE_URL_API: userOf("api"),
  DATABASE_URL_CONSOLE: userOf("console"),
  DATABASE_URL_ADMIN: setting(postgresUrl(), {
    meaning:
      "the same database as a user who may administer roles, for `op roles grant` and `op analysts`",
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: "postgres://postgres:password@localhost:5432/orders",
    fallback: "DATABASE_URL; embedded: its superuser",
    secret: true,
  }),
  DATABASE_READ_URL: setting(postgresUrl(), {
    meaning: "read replica",
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: "postgres://user:password@replica:5432/orders",
    fallback: "DATABASE_URL_API, then DATABASE_URL",
    secret: true,
  }),
};
