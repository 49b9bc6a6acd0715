/** PostGraphile on the tables that tables.mjs creates, as its documentation recommends for production. Its port is `env.PORT`. */
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter';

// PostGraphile 5.1 is made for Node 22. This is all that it misses on Node 20; one call per statement makes no difference.
Promise.withResolvers ??= () => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};

const service = postgraphile({
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
  // As many connections as the service has.
  pgServices: [
    makePgService({ connectionString: process.env.DATABASE_URL, schemas: ['peer'], poolConfig: { max: 10 } }),
  ],
  grafserv: { graphiql: false, watch: false },
  schema: { connectionFilterRelations: true },
});
const server = createServer();
await service.createServ(grafserv).addTo(server);
server.listen(Number(process.env.PORT), '127.0.0.1');
