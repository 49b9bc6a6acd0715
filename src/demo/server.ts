/** The service with the demo's workspace, in a file of its own unless DATABASE_URL names another. */
import { loadConfig } from '../config.ts';
import { serve } from '../serve.ts';
import { fillDemo } from './fill.ts';

// An empty variable is an unset one here too: it must not lead to the service's own file.
const databaseUrl = process.env.DATABASE_URL || 'sqlite:data/demo.db';

void serve(() => loadConfig({ ...process.env, DATABASE_URL: databaseUrl }), fillDemo);
