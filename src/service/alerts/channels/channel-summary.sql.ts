/** The channel `c` as people know it, without its secrets, as JSON: `id`, `type` and `name`. */
export const CHANNEL_SUMMARY = `jsonb_build_object('id', c.id, 'type', c.type, 'name', case c.type
  when 'EMAIL' then c.config ->> 'address'
  when 'SLACK' then substring(c.config ->> 'url' from '^[a-zA-Z]+://([^/?#]+)')
  else c.config ->> 'name' end)`;
