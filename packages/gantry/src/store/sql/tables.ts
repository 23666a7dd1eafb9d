/** The rows of the shapes, one table each. Numbers of milliseconds are epoch times; `value` is JSON text. */
export interface Tables {
  key_value: {
    space: string;
    key: string;
    value: string;
    /** 1 when it was written under a cap. */
    capped: number;
    written_at_ms: number;
    expires_at_ms: number | null;
  };
  document: {
    collection: string;
    id: string;
    value: string;
    revision: number;
    written_at_ms: number;
    /** Where it stands among the others that have a number. */
    position: number | null;
  };
  ledger: {
    ledger: string;
    id: string;
    value: string;
    owner: string;
    owner_group: string | null;
    created_at_ms: number;
    expires_at_ms: number | null;
    settled_as: string | null;
    settled_reason: string | null;
    settled_at_ms: number | null;
  };
  lease: {
    name: string;
    owner_id: string;
    fence: number;
    expires_at_ms: number;
  };
  secret: {
    name: string;
    sealed: string;
    key_id: string;
  };
  schema_version: {
    version: number;
    applied_at_ms: number;
  };
}
