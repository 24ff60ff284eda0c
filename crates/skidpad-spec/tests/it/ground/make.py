"""Makes the files of this folder and those of `scenes` that are no text: Pillow 13.0.0, numpy 2.4.6, pyopencrg 0.2.2. Run it in this folder."""
import numpy as np, pyopencrg as crg
from PIL import Image
R="../../../../../"
# hill
nx,ny=121,33
x=10+0.25*np.arange(nx); y=-4+0.25*np.arange(ny)
X,Y=np.meshgrid(x,y)
bx=np.where(abs(X-25)<10,np.cos(np.pi*(X-25)/20)**2,0); by=np.where(abs(Y-1)<3,np.cos(np.pi*(Y-1)/6)**2,0)
h=0.6*bx*by
img=np.round(h/0.6*65535).astype(np.uint16)[::-1]
Image.fromarray(img).save(R+"scenes/hill.png",optimize=True)
T=""
img8=(np.arange(6).reshape(2,3)*51).astype(np.uint8)
Image.fromarray(img8).save(T+"grey8.png")
for mode,name in (("RGB","rgb"),("RGBA","rgba"),("LA","la"),("P","p"),("1","bit")):
    Image.fromarray(img8).convert(mode).save(T+f"{name}.png")
# crg
def points(road,seed,n=12):
    rng=np.random.default_rng(seed)
    u=np.concatenate((rng.uniform(road.u_start,road.u_end,n),[road.u_start,road.u_end,road.u_start+road.u_inc*3]))
    v=np.concatenate((rng.uniform(road.v_min,road.v_max,n),[road.v_min,road.v_max,0.25]))
    px,py=road.uv_to_xy(u,v); z=road.uv_to_z(u,v); nn=road.uv_to_normal(u,v)
    nn=np.array(nn)
    nn=nn if nn.shape[0]==len(u) else nn.T
    return [[float(c) for c in (a,b,xx,yy,zz,*nm)] for a,b,xx,yy,zz,nm in zip(u,v,px,py,z,nn)]
def table(rows): return "u,v,x,y,z,nx,ny,nz\n"+"\n".join(",".join(repr(c) for c in r) for r in rows)+"\n"
nu,nv=21,5
u=np.arange(nu)*0.5
v=np.array([-1.5,-0.5,0.25,1.0,2.5])
z=np.round(np.random.default_rng(7).uniform(-.05,.05,(nu,nv)),5)
z[0:3,4]=np.nan
phi=0.4+0.08*np.sin(0.7*u[1:])+0.05*u[1:]
road=crg.CrgRoad(z,u_inc=0.5,v=v,u_start=2.0,heading=np.round(phi,6),slope=np.round(0.03*np.cos(u[1:]),6),banking=np.round(0.02*np.sin(u),6),x_start=100.0,y_start=-50.0,z_start=3.0)
for f,n in (("LDFI","curved.crg"),("LRFI","curved_short.crg"),("KRBI","binary.crg")):
    road.save(T+n,f)
open(T+"curved.csv","w").write(table(points(crg.read(T+"curved.crg"),1)))
z=np.array([(0,.01,0),(.01,.03,.02),(0,.05,0),(.02,0,.01)])
known=crg.CrgRoad(z,u_inc=1.0,v=[-1,0,1],heading=0.3,slope=0.05,banking=0.02)
known.save(T+"known.crg","LDFI")
# A banked bend to the left, radius 50 m, after 20 m straight on.
u=np.arange(101.0)
v=np.arange(-4.0,5.0)
phi=np.clip(u[1:]-20.5,0,60)/50
banking=0.06*np.clip((u-10)/20,0,1)*np.clip((90-u)/20,0,1)
z=np.round(0.004*np.sin(u[:,None]*0.9+v[None,:]*0.7),5)
crg.CrgRoad(z,u_inc=1.0,v=v,heading=phi,banking=np.round(banking,6),comments=["A banked bend to the left, radius 50 m, for scenes/bend.toml."]).save(R+"scenes/bend.crg","LRFI")

# Triangles below nodes that turn, stretch and move them: indices of 8 and 16 bits and none, corners between others' bytes, two materials.
import json, struct
b=b""
views=[];accs=[]
def view(data,stride=None):
    global b
    b+=b"\0"*(-len(b)%4)
    views.append({"buffer":0,"byteOffset":len(b),"byteLength":len(data)}|({"byteStride":stride} if stride else {}))
    b+=data
    return len(views)-1
def acc(v,ct,n,kind,off=0,**k): accs.append({"bufferView":v,"byteOffset":off,"componentType":ct,"count":n,"type":kind}|k); return len(accs)-1
sq=[(0,0,0),(2,0,0),(2,0.5,-3),(0,0.25,-3)]
lim=lambda ps:{"min":[min(p[k] for p in ps) for k in range(3)],"max":[max(p[k] for p in ps) for k in range(3)]}
inter=b"".join(struct.pack("<6f",*p,0,1,0) for p in sq)
pos=acc(view(inter,24),5126,4,"VEC3",**lim(sq))
short=acc(view(struct.pack("<6H",0,1,2,0,2,3)),5123,6,"SCALAR")
byte=acc(view(struct.pack("<8B",9,9,0,1,2,2,3,0)),5121,6,"SCALAR",2)
tri=[(5,0,5),(6,0,5),(5,1,4)]
own=acc(view(b"".join(struct.pack("<3f",*p) for p in tri)),5126,3,"VEC3",**lim(tri))
doc={"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,3]}],
"nodes":[{"children":[1,2],"translation":[10,0,0],"rotation":[0,0.7071067811865476,0,0.7071067811865476]},
{"mesh":0,"scale":[2,1,0.5]},{"mesh":1,"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,3,0,1]},{"mesh":0,"translation":[0,0,-8]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":pos},"indices":short,"material":0}]},
{"primitives":[{"attributes":{"POSITION":pos},"indices":byte,"material":1},{"attributes":{"POSITION":own}}]}],
"materials":[{"name":"tarmac"},{}],"accessors":accs,"bufferViews":views,"buffers":[{"byteLength":len(b)}]}
j=json.dumps(doc,separators=(",",":")).encode(); j+=b" "*(-len(j)%4); b+=b"\0"*(-len(b)%4); doc["buffers"][0]["byteLength"]=len(b)
j=json.dumps(doc,separators=(",",":")).encode(); j+=b" "*(-len(j)%4)
open(T+"nodes.glb","wb").write(struct.pack("<4sII",b"glTF",2,28+len(j)+len(b))+struct.pack("<I4s",len(j),b"JSON")+j+struct.pack("<I4s",len(b),b"BIN\0")+b)
doc["buffers"][0]["uri"]="nodes%20of.bin"
open(T+"nodes.gltf","w").write(json.dumps(doc,indent=0)+"\n")
open(T+"nodes of.bin","wb").write(b)
