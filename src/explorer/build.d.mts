export function readKinds(): unknown;
export function bundle(): Promise<unknown>;
