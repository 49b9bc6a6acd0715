/** Tables of neither records nor API keys. */
import { dateTime, json, required, text } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';

const integer = (description: string) =>
  ({ type: 'number', description, min: 0, max: Number.MAX_SAFE_INTEGER }) as const;

/** Databases identify a workspace by number, clients by name. */
export interface WorkspaceId {
  readonly number: number;
  readonly name: string;
}

export const workspaceNames: Table = {
  table: 'workspaces',
  label: 'workspace',
  key: ['number'],
  storedFields: {
    number: required(integer('number that it keeps for ever')),
    name: text('name that it has now'),
  },
};

export interface ChangeAuthor {
  readonly userId: string | null;
  readonly requestId: string | null;
  readonly message: string | null;
}

export type Action = 'created' | 'updated' | 'deleted';

/** A row of the log without its number, which the store adds. */
export interface LogRow extends ChangeAuthor {
  readonly workspaceId: number;
  readonly kind: string;
  readonly action: Action;
  readonly recordId: string;
  readonly at: string;
  /** Has no workspace, which may be renamed; null for a creation. */
  readonly before: Row | null;
}

export const changeNumbers: Table = {
  table: 'change_numbers',
  label: 'change number',
  key: ['workspaceId'],
  storedFields: {
    workspaceId: required(text('workspace')),
    number: required(integer('number of its last change')),
    horizon: required(integer('number of the last change that was deleted from the log')),
    horizonAt: dateTime('latest time of the deleted changes'),
    erasures: required(integer('number of erased records')),
  },
};

export const changes: Table = {
  table: 'changes',
  label: 'change',
  key: ['workspaceId', 'number'],
  storedFields: {
    workspaceId: required(text('workspace')),
    number: required(integer('number of the change in its workspace')),
    kind: required(text('kind of the record')),
    action: required(text('created, updated or deleted')),
    recordId: required({ type: 'id', description: 'ID of the record' }),
    at: required(dateTime('when the record was changed')),
    userId: text('user of the API key'),
    requestId: text('ID of the request'),
    message: text('reason that the request has given'),
    before: json('the record before the change'),
  },
};

export const importRuns: Table = {
  table: 'import_runs',
  label: 'import run',
  key: ['workspaceId', 'id'],
  storedFields: {
    workspaceId: required(text('workspace')),
    id: required(text('ID that the client has chosen')),
    startedAt: required(dateTime('when its first change was made')),
    updatedAt: required(dateTime('when its last change was made')),
    userId: text('user of its first change'),
    message: text('reason that its first request has given'),
    firstChange: required(integer('number of its first change')),
    lastChange: required(integer('number of its last change')),
    created: required(integer('number of its creations')),
    updated: required(integer('number of its updates')),
    deleted: required(integer('number of its deletions')),
  },
};

export const idempotencyResults: Table = {
  table: 'idempotency_keys',
  label: 'idempotency key',
  key: ['workspaceId', 'key', 'operation'],
  storedFields: {
    workspaceId: required(text('workspace')),
    key: required(text('key that the client has sent')),
    operation: required(text('what the request does')),
    requestHash: required(text('SHA-256 of the request')),
    createdAt: required(dateTime('when it was stored')),
    result: required(text('what the write returned: JSON, compressed if it is long')),
  },
};
