import { db } from "ponder:api";
import { Hono } from "hono";
import { graphql } from "ponder";
import * as schema from "#test/bench/ponder-app/ponder.schema.ts";

const app = new Hono();
app.use("/graphql", graphql({ db, schema }));

export default app;
