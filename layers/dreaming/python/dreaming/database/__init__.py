"""The database: connections, the tenant of a transaction, migrations."""

from dreaming.database.connection import Database, Role, Transaction
from dreaming.database.migration import check_schema, migrate, status

__all__ = ["Database", "Role", "Transaction", "check_schema", "migrate", "status"]
