/**
 * The option `schemaController` of a Fastify server with compilers of its own. Without it, Fastify loads its compilers
 * of JSON Schema at the start and never uses them.
 */
export const NO_JSON_SCHEMAS = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

function refuse(): never {
  throw new Error(
    'this server has no compiler of schemas: call setValidatorCompiler and setSerializerCompiler',
  );
}
