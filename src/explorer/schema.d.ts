/** What build.mjs reads from the schema. */
declare module 'schema.graphql' {
  const schema: unknown;
  export default schema;
}
