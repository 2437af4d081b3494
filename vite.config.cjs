/**
 * Ponder runs its bundler as if for development: it would watch every file below the root, the database's included.
 * CommonJS: a module would be compiled into a file beside it, at every start, also where the project is read-only.
 */
module.exports = { server: { watch: null } };
