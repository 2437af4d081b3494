/** Ponder runs its bundler as if for development: it would watch every file below the root, the database's included. */
export default { server: { watch: null } };
