import { loadConfig } from './config.ts';
import { serve } from './serve.ts';

void serve(() => loadConfig(process.env));
