"""The server over HTTP, as requests of a web application are handed to it: stateless, with JSON for every answer."""

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from twofold.mcp.access import Access
from twofold.mcp.server import create_mcp_server


def session_manager(access: Access) -> StreamableHTTPSessionManager:
    """Return what handles requests while its `run()` is entered. Host, origin and token were checked before."""
    server = create_mcp_server(access)
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(json_response=True, stateless_http=True, transport_security=checked)
    return server.session_manager
